import { callResultSchema, resultOf } from './result';

const result = (answer: unknown, maxBytes = 1_000) => resultOf(callResultSchema.parse(answer), maxBytes);
const text = (words: string) => ({ type: 'text', text: words });

describe('the answer of an MCP server', () => {
  it('is its texts, a line break between them', () => {
    expect(result({ content: [text('a'), text('b\0')] })).toEqual({ text: 'a\nb\0', isError: false });
    expect(result({ content: [text('no')], isError: true })).toEqual({ text: 'no', isError: true });
    expect(result({})).toEqual({ text: '', isError: false });
  });

  it('is its structured content where it has nothing else', () => {
    const structuredContent = { a: [1, 'b'] };
    expect(result({ content: [], structuredContent })).toEqual({ text: '{"a":[1,"b"]}', isError: false });
    expect(result({ content: [text('one')], structuredContent })).toEqual({ text: 'one', isError: false });
  });

  it('gives the model a line for what only a person can look at', () => {
    const sound = { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' };
    const file = { type: 'resource', resource: { uri: 'file:///x', blob: 'AAAA', mimeType: 'application/pdf' } };
    expect(result({ content: [sound, file] })).toEqual({
      text: '[audio, audio/wav: shown to the person, not readable here]\n[resource, file:///x, application/pdf: shown to the person, not readable here]',
      isError: false,
      display: { type: 'mcp', content: [sound, file] },
    });
  });

  it('keeps from the model what is for the person alone', () => {
    const secret = { ...text('for you'), annotations: { audience: ['user'] } };
    expect(result({ content: [secret] })).toEqual({
      text: '[The answer was shown to the person.]',
      isError: false,
      display: { type: 'mcp', content: [secret] },
    });
    const both = { ...text('for all'), annotations: { audience: ['user', 'assistant'] } };
    expect(result({ content: [both, secret] }).text).toBe('for all');
  });

  it('names content of a kind that is not known, and is kept all the same', () => {
    expect(result({ content: [{ type: 'hologram', data: 1 }, text('a')] }).text).toBe(
      '[content of a kind that cannot be shown here: hologram]\na',
    );
  });

  it('is not kept where it is too large, the part for the person included', () => {
    const tooLarge = {
      isError: true,
      text: "The tool's answer is larger than 10 bytes. It was not kept. Ask for less.",
    };
    expect(result({ content: [text('é'.repeat(5))] }, 10)).toEqual({ text: 'ééééé', isError: false });
    expect(result({ content: [text('é'.repeat(6))] }, 10)).toEqual(tooLarge);
    expect(result({ content: [{ type: 'image', data: 'A'.repeat(11), mimeType: 'x' }] }, 10)).toEqual(tooLarge);
  });
});
