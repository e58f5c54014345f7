import type { ShownPiece } from '../replay';
import { shownItems } from './shown-items';

const piece = (what: ShownPiece['what'], text: string, more: Partial<ShownPiece> = {}): ShownPiece => ({
  ...{ what, text, nodeId: 'n1', ...more },
});
const event = (type: string, data: object, content: object = {}): Partial<ShownPiece> => ({
  event: { type, data, content, id: 'e', revision: 4n } as unknown as NonNullable<ShownPiece['event']>,
});
const brief = (pieces: readonly ShownPiece[]) => shownItems(pieces).map(({ type, key, text }) => [type, key, text]);

describe('what a request shows', () => {
  it('is the same of a tool, whichever wire format declares it', () => {
    const schema = { type: 'object', properties: {} };
    const chat = [{ type: 'function', function: { name: 'sql', description: 'asks', parameters: schema } }];
    const messages = [{ name: 'sql', description: 'asks', input_schema: schema }, { type: 'web_search', name: 'web_search' }]; // prettier-ignore
    const [, ofChat] = shownItems([piece('tools', JSON.stringify(chat), { nodeId: null })]);
    const [, ofMessages, ofProvider] = shownItems([piece('tools', JSON.stringify(messages), { nodeId: null })]);
    expect(ofChat).toEqual(ofMessages);
    expect(ofChat).toMatchObject({ type: 'tool', name: 'sql' });
    expect(ofProvider).toMatchObject({ type: 'tool', name: 'web_search', text: JSON.stringify(messages[1]) });
  });

  it('has a state block line by line, each of the node that said what holds', () => {
    const state = (text: string, nodeId = 'n9') => piece('state', text, { nodeId });
    const pieces = ['<state>\n', 'today: 2026-11-30', '\nbudget: '].map((text) => state(text));
    const items = shownItems([...pieces, state('20,000', 'n3'), state('  (~~'), state('10,000', 'n1'), state('~~)\n</state>\n\n')]); // prettier-ignore
    expect(items.slice(1).map(({ name, text, nodeId }) => [name, text, nodeId])).toEqual([
      ['today', 'today: 2026-11-30', 'n9'],
      ['budget', 'budget: 20,000  (~~10,000~~)', 'n3'],
    ]);
  });

  it('knows a result under one key, whole or folded, and each text of an answer by what it is', () => {
    const response = { format: 'palimpsest.items', items: [{ type: 'reasoning', text: 'why' }, { type: 'assistant', text: 'so' }] }; // prettier-ignore
    const answer = event('CallSucceeded', { nodeId: 'n1' }, { response });
    const at = (index: number) => `/response/items/${index}/text`;
    expect(
      brief([
        piece('turn', 'why', { ...answer, pointer: at(0) }),
        piece('turn', 'so', { ...answer, pointer: at(1) }),
        piece('turn', 'signed', { ...answer, pointer: '/response/signature' }),
        piece('turn', 'whole', event('ToolExecuted', { toolCallId: 'n1-0' })),
        piece('turn', 'begins', event('ToolResultFolded', { toolCallId: 'n1-0', handle: 'h' })),
      ]).slice(1),
    ).toEqual([
      ['reasoning', `answer n1${at(0)}`, 'why'],
      ['assistant', `answer n1${at(1)}`, 'so'],
      ['block', 'answer n1/response/signature', 'signed'],
      ['tool_result', 'result n1-0', 'whole'],
      ['tool_result', 'result n1-0', 'begins'],
    ]);
  });

  it('has one frame, of what stands around all messages, and none of what stands between their texts', () => {
    const [frame, ...others] = brief([
      piece('frame', '{"model":"m"', { nodeId: null }),
      piece('frame', ',{"role":"user"'),
      piece('summary', 'Summary of the conversation so far:'),
      piece('frame', ']}', { nodeId: null }),
    ]);
    expect(frame).toEqual(['frame', 'frame', '{"model":"m"]}']);
    expect(others).toEqual([]);
  });
});
