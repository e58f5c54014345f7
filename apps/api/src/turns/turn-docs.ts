import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { TurnBody } from './turns.dto';

const frames = {
  'text/event-stream': {
    schema: {
      type: 'string',
      description:
        'Frames with `id: <revision>.<n>` (none for running text), `event` and `data`, one line of JSON: turn.started, ' +
        'round.started, text.delta, text.snapshot, tool.call, tool.result, approval.requested, node.finished, turn.finished ' +
        '(its data is the turn), error (its data is a problem).',
    },
  },
} as const;

const turn = { 'application/json': { schema: { $ref: getSchemaPath(TurnBody) } } } as const;

/** Event streams are 200 whatever they start: clients of event streams take no other status. */
export const ApiNewTurn = (): MethodDecorator =>
  applyDecorators(
    ApiExtraModels(TurnBody),
    ApiResponse({
      status: 201,
      description: 'The new turn, once it has ended or waits for an approval',
      content: turn,
    }),
    ApiResponse({
      status: 200,
      description: 'The new turn, which failed or was cancelled; or its frames, by Accept',
      content: { ...turn, ...frames },
    }),
  );

export const ApiTurnOrFrames = (): MethodDecorator =>
  applyDecorators(
    ApiExtraModels(TurnBody),
    ApiResponse({ status: 200, description: 'By Accept', content: { ...turn, ...frames } }),
  );

export const ApiEventStream = (): MethodDecorator =>
  ApiResponse({ status: 200, description: 'Frames until turn.finished', content: frames });
