import type { ConversationEvent, EventOf } from '@palimpsest/conversation';
import { shapes } from '@palimpsest/conversation';
import { checkDefinition, type OwnDefinition, type OwnEvent } from '@palimpsest/read-models';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Events, ProjectedEvent, Projection } from '../../bin/projections/palimpsest';
import restingAnswers from '../../bin/projections/resting-answers';
import starter from '../../bin/projections/starter';
import tokenCost from '../../bin/projections/token-cost';

/** The types that authors are told of one by one; there is a catch-all besides. */
type Told = keyof { [Type in keyof Events as string extends Type ? never : Type]: true } & ConversationEvent['type'];
type Content<Type extends Told> = EventOf<Type> extends { content: infer C } ? C : null;

/** What an event has is what authors are told of it: where it is not, there is nothing that this may be, and `npm run check` fails. */
const told: {
  readonly [Type in Told]: [EventOf<Type>['data'], Content<Type>] extends [
    Events[Type]['data'],
    Events[Type]['content'],
  ]
    ? true
    : never;
} = {
  ...{ ConversationStarted: true, TurnStarted: true, CallRequested: true, CallSucceeded: true, CallFailed: true },
  ...{ ToolExecuted: true, TurnCompleted: true, TurnFailed: true, TurnCancelled: true },
};
const event = (given: OwnEvent): ProjectedEvent => given;
const definition = (given: Projection): OwnDefinition => given;

it('the types that authors write by are those of the log and of the program', () => {
  const source = readFileSync(join(__dirname, '../../bin/projections/palimpsest.d.ts'), 'utf8');
  const [, events = ''] = /export interface Events \{\n([\s\S]*?)\n\}/.exec(source) ?? [];
  const names = [...events.matchAll(/^ {2}(\w+): \{/gm)].map(([, name]) => name);
  expect(names).toEqual(Object.keys(told));
  expect(Object.keys(shapes.newest)).toEqual(expect.arrayContaining(names));
  expect([event, definition].map(({ length }) => length)).toEqual([1, 1]);
});

it.each([restingAnswers, starter, tokenCost])('the example $name is a projection', (example) => {
  expect(checkDefinition(definition(example))).toEqual(example);
  for (const type of Object.keys(example.on)) expect(Object.keys(shapes.newest)).toContain(type);
});
