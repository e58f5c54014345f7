import {
  type AssistantDefinition,
  type CompactionChoice,
  type ContextChoice,
  contextChoice,
  type ExtractionChoice,
  type ModelChoice,
  type ToolDefinition,
} from '@palimpsest/assistant';
import { READ_RESULT } from '@palimpsest/context';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { compactsItself, type ModelFacts, reservedParams } from '@palimpsest/providers';
import { stateToolDefinitions, ToolUnavailable } from '@palimpsest/tools';
import { answer, type Answer, refused } from '../refusal';
import { commandKey, createdId } from '../system/command-keys';
import { guarded } from '../system/guard';
import { System } from '../system/system';
import type { AssistantView } from '../views';
import { type AssistantSpecification, CreateAssistantVersion } from './create-assistant-version.command';
import { OWN_TOOLS } from './own-tools';
import { schemaOf } from './state-schema';

@CommandHandler(CreateAssistantVersion)
export class CreateAssistantVersionHandler implements ICommandHandler<CreateAssistantVersion> {
  constructor(private readonly system: System) {}

  async execute({ caller, idempotency, specification }: CreateAssistantVersion): Promise<Answer<AssistantView>> {
    return guarded(async () => {
      const resolved = await this.resolve(specification);
      if (!resolved.ok) return resolved;
      const keys = await this.system.keys.forTenant(caller.tenantId);
      const isNew = specification.assistantId === undefined;
      const assistantId = specification.assistantId?.toLowerCase() ?? createdId(caller, idempotency);
      if (!isNew && (await this.system.assistants.newest(assistantId))?.tenantId !== caller.tenantId)
        return noSuchAssistant;
      const key = commandKey(keys, caller, idempotency);
      const result = await this.system.assistantWriter.handle(
        { type: 'CreateVersion', assistantId, isNew, definition: resolved.value, key },
        {
          ...{ tenantId: caller.tenantId, actor: caller.actor, correlationId: this.system.newId(), causationId: null },
          occurredAt: this.system.now().toISOString(),
        },
      );
      if (result.ok) {
        const { position } = result;
        const version = result.known?.version ?? result.state.version;
        return answer({ assistantId, version, revision: result.known?.revision ?? result.revision, position });
      }
      const { code } = result.refusal;
      if (code === 'not_found') return noSuchAssistant;
      if (code === 'idempotency_conflict') return refused(code, 'This Idempotency-Key was used with another body.');
      return refused(code, 'Somebody else made a version of this assistant at the same time. Try again.');
    });
  }

  private async resolve(
    specification: AssistantSpecification,
  ): Promise<Answer<Omit<AssistantDefinition, 'assistantId' | 'version'>>> {
    const { name, systemPrompt, locale = 'en', zone = 'UTC' } = specification;
    const schema = schemaOf(specification.state);
    if (!schema.ok) return schema;
    const model = this.model(specification.model);
    if (!model.ok) return model;
    const compaction = this.compaction(specification.compaction, model.value);
    if (!compaction.ok) return compaction;
    const extraction = this.extraction(specification, schema.value !== undefined);
    if (!extraction.ok) return extraction;
    const context = this.context(specification.context, model.value);
    if (!context.ok) return context;
    const tools: ToolDefinition[] = [];
    for (const reference of specification.tools ?? []) {
      if (OWN_TOOLS.has(reference.name))
        return refused(
          'validation_failed',
          `The tool ${reference.name} comes by itself with every assistant that it is of use to, and no other may have its name.`,
        );
      const tool = await this.system.tools.find(reference).catch(unavailable);
      if (tool instanceof ToolUnavailable)
        return refused(
          'tool_unavailable',
          `${tool.message} Its operator has to mend that, or it comes back by itself.`,
        );
      if (!tool)
        return refused(
          'validation_failed',
          `There is no ${reference.type} tool of the name ${JSON.stringify(reference.name)} on this installation.`,
        );
      if (tools.some((other) => other.name === tool.definition.name))
        return refused('validation_failed', `The tool ${JSON.stringify(reference.name)} is named twice.`);
      if (OWN_TOOLS.has(tool.definition.name))
        return refused(
          'validation_failed',
          `The model would call the tool ${JSON.stringify(reference.name)} ${tool.definition.name}, which is the name of another.`,
        );
      tools.push(tool.definition);
    }
    const reader = tools.length ? await this.system.tools.find({ type: 'builtin', name: READ_RESULT }) : undefined;
    if (reader) tools.push(reader.definition);
    if (schema.value) tools.push(...stateToolDefinitions(schema.value.fields.map((field) => field.name)));
    tools.sort((a, b) => (a.name < b.name ? -1 : 1));
    const compacts = specification.compaction && { compaction: compaction.value };
    const keeps = schema.value && { state: schema.value, ...(extraction.value && { extraction: extraction.value }) };
    const fixed = { name, systemPrompt, model: model.value, tools, locale, zone, context: context.value };
    return answer({ ...fixed, ...compacts, ...keeps });
  }

  /** What it leaves out is what the registry says now: from here on it is part of the version. */
  private model(model: AssistantSpecification['model'] = this.system.defaultModel): Answer<ModelChoice> {
    const { provider, name, params = {} } = model;
    const facts = this.facts(model);
    const { maxOutputTokens = facts.outputReserve } = model;
    const { inputCap = Math.min(facts.inputCap, facts.contextWindow - maxOutputTokens) } = model;
    if (inputCap < 1)
      return refused(
        'validation_failed',
        `The model ${JSON.stringify(name)} has a window of ${facts.contextWindow} tokens, and maxOutputTokens is ${maxOutputTokens}: nothing is left for a request.`,
      );
    const reserved = reservedParams(params);
    if (reserved.length)
      return refused(
        'validation_failed',
        `The params of a model cannot hold ${reserved.join(', ')}: that comes from the conversation.`,
      );
    if (!this.system.hasProvider(provider))
      return refused(
        'validation_failed',
        `This installation has no key for the provider ${provider}. Set it in the environment and start again, or choose another model.`,
      );
    return answer({ provider, name, inputCap, maxOutputTokens, params });
  }

  private compaction(
    wanted: AssistantSpecification['compaction'] = {},
    own: Pick<ModelChoice, 'provider' | 'name'>,
  ): Answer<CompactionChoice> {
    const { model: named, ...others } = wanted;
    if (wanted.by === 'provider' && !compactsItself(own))
      return refused(
        'validation_failed',
        `The model ${JSON.stringify(own.name)} of the provider ${own.provider} has no compaction of its own: leave compaction.by out, or choose a model of anthropic.`,
      );
    if (wanted.by === 'provider' && named)
      return refused(
        'validation_failed',
        'A compaction by the provider is made by the assistant’s own model: leave compaction.model out.',
      );
    if (!named) return answer(others);
    const model = this.model(named);
    return model.ok ? answer({ ...others, model: model.value }) : model;
  }

  private extraction(
    { extraction }: AssistantSpecification,
    keepsState: boolean,
  ): Answer<ExtractionChoice | undefined> {
    if (!extraction) return answer(undefined);
    if (!keepsState)
      return refused(
        'validation_failed',
        'An extraction finds values of the fields that state names: state is left out.',
      );
    const { mode, model: named } = extraction;
    if (!named) return answer({ mode });
    const model = this.model(named);
    return model.ok ? answer({ mode, model: model.value }) : model;
  }

  private context(wanted: AssistantSpecification['context'] = {}, own: ModelChoice): Answer<ContextChoice> {
    const { model: named, ...others } = wanted.summaries ?? {};
    const model = named && this.model(named);
    if (model && !model.ok) return model;
    const made = contextChoice({ ...wanted, summaries: { ...others, ...(model && { model: model.value }) } }, own);
    return 'choice' in made ? answer(made.choice) : refused('validation_failed', made.problem);
  }

  private facts({ provider, name }: Pick<ModelChoice, 'provider' | 'name'>): ModelFacts {
    return this.system.models.find(provider, name);
  }
}

function unavailable(error: unknown): ToolUnavailable {
  if (error instanceof ToolUnavailable) return error;
  throw error;
}

const noSuchAssistant = refused('not_found', 'There is no such assistant.');
