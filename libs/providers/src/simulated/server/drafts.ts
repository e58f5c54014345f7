import { stringOf } from '../../json';
import { type Directive, withoutDirectives } from './directives';
import { directivesFor, type Heard, type HeardMessage, type HeardTool } from './heard';

/** How Palimpsest asks for a playbook, and for a better one. */
const ASKED = /^(?:Make a playbook of this conversation|That is not a playbook yet)/;

export const isDraftRequest = (text: string): boolean => ASKED.test(text);

/** Which attempt this is, from 1: those before stand in the request. */
export const attemptIn = (messages: readonly HeardMessage[]): number =>
  messages.filter((message) => message.role === 'user' && isDraftRequest(message.text)).length;

/** `[[sim: draft-VERB ...]]` anywhere in the conversation is `VERB` to a draft, and nothing to a question. */
export const draftDirectives = (messages: readonly HeardMessage[]): readonly Directive[] =>
  directivesFor('draft-', messages);

/** A playbook of the first question, for another period. The first so many drafts of `draft-errors N` name a tool that is not there. */
export function draft({ tools, messages }: Heard, directives: readonly Directive[], attempt: number): string {
  const said = directives.filter(({ verb }) => verb === 'say');
  if (said.length > 0) return said[Math.min(attempt, said.length) - 1]?.rest ?? '';
  const wrong = Number(directives.find(({ verb }) => verb === 'errors')?.rest ?? 0);
  const asked = messages.find((message) => message.role === 'user');
  const question = withoutDirectives(asked?.text ?? '');
  const tool =
    tools.find(({ name }) => /sql/i.test(name)) ??
    tools.find(({ name }) => !/^(read_result|note_state|recall_state)$/.test(name));
  return JSON.stringify({
    title: question.slice(0, 80) || 'What was done here',
    goal: `An answer to: ${question}`,
    inputs: [{ name: 'period', description: 'The period that is asked about', example: 'last month' }],
    steps: [
      ...(tool ? [stepWith(tool, attempt <= wrong)] : []),
      { instruction: `Answer for {{period}}: ${question}`, ...(tool === undefined && attempt <= wrong ? missing : {}) },
    ],
    checks: ['Every figure comes from a tool’s result'],
  });
}

const missing = { tool: 'no_such_tool', arguments: {} };

function stepWith({ name, parameters }: HeardTool, isWrong: boolean): object {
  const { required, properties } = parameters;
  const [first] = Array.isArray(required) ? (required as unknown[]) : Object.keys(properties ?? {});
  const given = { [stringOf(first) || 'query']: 'the figures of {{period}}' };
  return { instruction: 'Get the figures of {{period}}', tool: isWrong ? 'no_such_tool' : name, arguments: given };
}
