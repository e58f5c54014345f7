import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { differencesOf } from '@palimpsest/playbook';
import { answer, type Answer, refused } from '../refusal';
import { System } from '../system/system';
import type { PlaybookDiffView, PlaybookVersionsView, PlaybookView } from '../views';
import { contentOf, ownPlaybook, schemaOf, versionView } from './own-playbook';
import { DiffPlaybookVersions, GetPlaybook, ListPlaybookVersions } from './playbook.queries';

const noVersion = (version: number) => refused('not_found', `This playbook has no version ${version}.`);

@QueryHandler(GetPlaybook)
export class GetPlaybookHandler implements IQueryHandler<GetPlaybook> {
  constructor(private readonly system: System) {}

  async execute({ caller, playbookId, version }: GetPlaybook): Promise<Answer<PlaybookView>> {
    return ownPlaybook(this.system, caller, playbookId, async (stored) => {
      const wanted = version ?? stored.versions.length;
      const playbook = await contentOf(stored, wanted);
      if (!playbook) return noVersion(wanted);
      return answer({ ...versionView(stored, wanted), ...stored.created, playbook, schema: await schemaOf(stored) });
    });
  }
}

@QueryHandler(ListPlaybookVersions)
export class ListPlaybookVersionsHandler implements IQueryHandler<ListPlaybookVersions> {
  constructor(private readonly system: System) {}

  async execute({ caller, playbookId }: ListPlaybookVersions): Promise<Answer<PlaybookVersionsView>> {
    return ownPlaybook(this.system, caller, playbookId, async (stored) =>
      answer({ items: stored.versions.map((_, index) => versionView(stored, index + 1)) }),
    );
  }
}

@QueryHandler(DiffPlaybookVersions)
export class DiffPlaybookVersionsHandler implements IQueryHandler<DiffPlaybookVersions> {
  constructor(private readonly system: System) {}

  async execute({ caller, playbookId, from, to }: DiffPlaybookVersions): Promise<Answer<PlaybookDiffView>> {
    return ownPlaybook(this.system, caller, playbookId, async (stored) => {
      const [before, after] = [await contentOf(stored, from), await contentOf(stored, to)];
      if (!before || !after) return noVersion(before ? to : from);
      return answer({ playbookId: stored.playbookId, from, to, differences: differencesOf(before, after) });
    });
  }
}
