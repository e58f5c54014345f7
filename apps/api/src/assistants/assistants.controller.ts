import { Body, Controller, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiBody, ApiCreatedResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CreateAssistantVersion, type AssistantView, type Caller, type Idempotency } from '@palimpsest/application';
import { existing } from '../http/ids';
import { given } from '../http/json';
import { ApiIdempotencyKey, ApiProblems, whileWriting } from '../http/openapi';
import { valueOf } from '../http/problem';
import { CurrentCaller, CurrentIdempotency } from '../http/request';
import { bodyOf } from '../http/validate';
import { AssistantBody, type ContextFields, CreateAssistantBody } from './assistants.dto';

@ApiTags('assistants')
@ApiBearerAuth()
@Controller('v1/assistants')
export class AssistantsController {
  constructor(private readonly commands: CommandBus) {}

  @Post()
  @ApiOperation({ summary: 'Makes an assistant, or a new version of one. A version never changes.' })
  @ApiIdempotencyKey()
  @ApiBody({ type: CreateAssistantBody })
  @ApiCreatedResponse({ type: AssistantBody })
  @ApiProblems('not_found', 'tool_unavailable', ...whileWriting)
  async createAssistant(
    @CurrentCaller() caller: Caller,
    @CurrentIdempotency() idempotency: Idempotency,
    @Body(bodyOf(CreateAssistantBody)) body: CreateAssistantBody,
  ): Promise<AssistantView> {
    const { assistantId, model, name, systemPrompt, tools, locale, zone, compaction, context, state, extraction } =
      body;
    const specification = given({
      assistantId: assistantId === undefined ? undefined : existing('assistant', assistantId),
      name,
      systemPrompt,
      model: model && given({ ...model }),
      tools,
      locale,
      zone,
      compaction: compaction && given({ ...compaction, model: compaction.model && given({ ...compaction.model }) }),
      context: context && contextOf(context),
      state,
      extraction: extraction && given({ ...extraction, model: extraction.model && given({ ...extraction.model }) }),
    });
    return valueOf(await this.commands.execute(new CreateAssistantVersion(caller, idempotency, specification)));
  }
}

/** As it is asked for, without what is left out. */
export function contextOf({ window, pressure, everyTurns, folds, summaries }: ContextFields) {
  return given({
    window: window && given({ ...window }),
    pressure: pressure && given({ ...pressure }),
    everyTurns,
    folds,
    summaries: summaries && given({ ...summaries, model: summaries.model && given({ ...summaries.model }) }),
  });
}
