import { Query } from '@nestjs/cqrs';
import type { Caller } from '../caller/caller';
import type { Answer } from '../refusal';
import type { PlaybookDiffView, PlaybookVersionsView, PlaybookView } from '../views';

export class GetPlaybook extends Query<Answer<PlaybookView>> {
  constructor(
    readonly caller: Caller,
    readonly playbookId: string,
    /** Left out: the newest. */
    readonly version?: number,
  ) {
    super();
  }
}

export class ListPlaybookVersions extends Query<Answer<PlaybookVersionsView>> {
  constructor(
    readonly caller: Caller,
    readonly playbookId: string,
  ) {
    super();
  }
}

export class DiffPlaybookVersions extends Query<Answer<PlaybookDiffView>> {
  constructor(
    readonly caller: Caller,
    readonly playbookId: string,
    readonly from: number,
    readonly to: number,
  ) {
    super();
  }
}
