import { Controller, Get, Query } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { type Caller, GetLineage, type LineageSubject, type LineageView } from '@palimpsest/application';
import { atLeast } from '../http/at-least';
import { existing, existingAssertion } from '../http/ids';
import { bigintOf, given } from '../http/json';
import { ApiMinRevision, ApiPage, ApiProblems } from '../http/openapi';
import { invalid, valueOf } from '../http/problem';
import { CurrentCaller } from '../http/request';
import { queryOf } from '../http/validate';
import { LineageBody, LineageQuery } from './lineage.dto';

const ApiSubject = (name: keyof LineageQuery, description: string): MethodDecorator =>
  ApiQuery({ name, required: false, schema: { type: 'string' }, description });

@ApiTags('lineage')
@ApiBearerAuth()
@Controller('v1/lineage')
export class LineageController {
  constructor(private readonly queries: QueryBus) {}

  @Get()
  @ApiOperation({
    summary: 'Which answers rested on something, on any branch and in conversations that grow from there; and what an answer itself rested on',
    description: 'Names one of `node`, `toolCall`, `assertion`, `playbook` and `digest`. Read from what the requests recorded: nothing is assembled again.',
  }) // prettier-ignore
  @ApiSubject('node', 'What this model call sent and received; of a compaction or a summary, its summary')
  @ApiSubject('toolCall', 'The result of this tool call')
  @ApiSubject('assertion', 'A value of the state, as it was asserted: `<conversationId>@<revision>`')
  @ApiSubject('playbook', 'The draft that this playbook was made from')
  @ApiSubject(
    'digest',
    'SHA-256 (hex) of a text, as it was said or as it stands in a request; all conversations are looked through, newest first',
  )
  @ApiMinRevision()
  @ApiPage()
  @ApiOkResponse({ type: LineageBody })
  @ApiProblems('not_found', 'behind', 'sealed')
  async getLineage(
    @CurrentCaller() caller: Caller,
    @Query(queryOf(LineageQuery)) query: LineageQuery,
  ): Promise<LineageView> {
    const { limit = '50', cursor, minPosition } = query;
    const page = { limit: Number(limit), ...given({ cursor, minPosition: bigintOf(minPosition) }) };
    return valueOf(await this.queries.execute(new GetLineage(caller, subjectOf(query), page, atLeast(query))));
  }
}

function subjectOf({ node, toolCall, assertion, playbook, digest }: LineageQuery): LineageSubject {
  const named = [node, toolCall, assertion, playbook, digest].filter((id) => id !== undefined);
  if (named.length !== 1)
    throw invalid('Name one thing to ask about: query field node, toolCall, assertion, playbook or digest.');
  if (node !== undefined) return { of: 'node', nodeId: existing('node', node) };
  if (toolCall !== undefined) return { of: 'toolCall', toolCallId: existing('tool call', toolCall) };
  if (assertion !== undefined) return { of: 'assertion', assertion: existingAssertion(assertion) };
  if (digest !== undefined) return { of: 'digest', digest: digest.toLowerCase() };
  return { of: 'playbook', playbookId: existing('playbook', playbook ?? '') };
}
