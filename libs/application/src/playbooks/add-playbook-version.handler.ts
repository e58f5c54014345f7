import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { playbookKeyId } from '@palimpsest/event-store';
import { judgeDraft } from '@palimpsest/playbook';
import { answer, type Answer, refused } from '../refusal';
import { commandKey } from '../system/command-keys';
import { System } from '../system/system';
import type { PlaybookVersionView } from '../views';
import { draftRules } from './draft-rules';
import { ownPlaybook, schemaOf, versionView } from './own-playbook';
import { AddPlaybookVersion } from './playbook.commands';

@CommandHandler(AddPlaybookVersion)
export class AddPlaybookVersionHandler implements ICommandHandler<AddPlaybookVersion> {
  constructor(private readonly system: System) {}

  async execute(command: AddPlaybookVersion): Promise<Answer<PlaybookVersionView>> {
    const { caller, idempotency, playbookId: id, playbook, basedOn } = command;
    const { system } = this;
    return ownPlaybook(system, caller, id, async (stored) => {
      const { playbookId, created } = stored;
      const rules = await draftRules(system, created.assistantId, created.assistantVersion, await schemaOf(stored));
      const judged = judgeDraft(playbook, rules);
      if (!judged.ok)
        return refused('validation_failed', `That is no playbook: ${judged.errors[0]}`, { errors: judged.errors });
      const key = commandKey(await system.keys.open(playbookKeyId(playbookId)), caller, idempotency);
      const result = await system.playbooks.handle(
        playbookId,
        { type: 'AddVersion', playbook, key, ...(basedOn === undefined ? {} : { basedOn }) },
        {
          ...{ tenantId: caller.tenantId, actor: caller.actor, correlationId: system.newId(), causationId: null },
          occurredAt: system.now().toISOString(),
        },
      );
      if (!result.ok) return refusalOf(result.refusal);
      const version = result.known?.version ?? result.state.version;
      return ownPlaybook(system, caller, id, async (now) => answer(versionView(now, version)));
    });
  }
}

type Refusal = Extract<Awaited<ReturnType<System['playbooks']['handle']>>, { ok: false }>['refusal'];

function refusalOf(refusal: Refusal) {
  switch (refusal.code) {
    case 'not_found':
      return refused('not_found', 'There is no such playbook.');
    case 'idempotency_conflict':
      return refused(refusal.code, 'This Idempotency-Key was used with another body.');
    case 'version_conflict': {
      const { basedOn, newest } = refusal;
      const detail = 'Somebody else added a version since. Look at what changed, and add yours to the newest.';
      return refused('revision_conflict', detail, { basedOn, newest });
    }
    case 'revision_conflict':
      return refused(refusal.code, 'Somebody else added a version at the same time. Try again.');
  }
}
