/** What stands in a request to a model, in either wire format. */
export interface Requested {
  /** Ids of tool calls, in order. */
  readonly calls: readonly string[];
  /** Ids and texts of their results, in order. */
  readonly results: readonly { readonly id: string; readonly text: string }[];
  /** What the person said, in order. */
  readonly questions: readonly string[];
  /** What the model answered in words, in order. */
  readonly answers: readonly string[];
}

interface Block {
  readonly type?: string;
  readonly text?: string;
  readonly id?: string;
  readonly tool_use_id?: string;
  readonly content?: string | readonly Block[];
}

interface Message {
  readonly role: string;
  readonly content?: string | readonly Block[] | null;
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
}

/** Reads a request's body. */
export function requested(body: string | Buffer): Requested {
  const { messages } = JSON.parse(body.toString('utf8')) as { readonly messages: readonly Message[] };
  const calls: string[] = [];
  const results: { id: string; text: string }[] = [];
  const questions: string[] = [];
  const answers: string[] = [];
  for (const { role, content, tool_calls, tool_call_id } of messages) {
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
    if (role === 'tool') results.push({ id: tool_call_id ?? '', text: textOf(content ?? '') });
    for (const call of tool_calls ?? []) calls.push(call.id);
    for (const block of blocks) {
      if (block.type === 'tool_use') calls.push(block.id ?? '');
      if (block.type === 'tool_result')
        results.push({ id: block.tool_use_id ?? '', text: textOf(block.content ?? '') });
      if (block.type === 'text' && role === 'user') questions.push(block.text ?? '');
      if (block.type === 'text' && role === 'assistant') answers.push(block.text ?? '');
    }
  }
  return { calls, results, questions, answers };
}

/** Calls without exactly one result, and results without a call. */
export function unpairedIn(body: string | Buffer): readonly string[] {
  const { calls, results } = requested(body);
  const odd = calls.filter((id) => results.filter((result) => result.id === id).length !== 1);
  return [...odd, ...results.map(({ id }) => id).filter((id) => !calls.includes(id))];
}

function textOf(content: string | readonly Block[]): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('');
}
