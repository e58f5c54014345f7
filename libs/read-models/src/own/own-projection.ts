import { namesOf } from '@palimpsest/conversation';
import {
  conversationKeyId,
  type Decoded,
  type EventCodec,
  type Json,
  type KeyRing,
  Sealed,
  type StoredEvent,
} from '@palimpsest/event-store';
import type { Projection, Tables } from '../projection';
import type { OwnDefinition, OwnEvent, OwnTable } from './definition';

export interface Opening {
  readonly codec: EventCodec;
  readonly keys: KeyRing;
}

const endings = ['ConversationDeleted', 'KeyDestroyed'];

/** An operator's own projection as the projector takes it. */
export function ownProjection(definition: OwnDefinition, opening: Opening): Projection {
  const { name, version, on } = definition;
  return {
    ...{ name, version, endings },
    filter: {
      streamPrefixes: ['conversation-'],
      types: [...new Set([...Object.keys(on), ...endings].flatMap(namesOf))],
    },
    tables: Object.entries(definition.tables).map(tableSql).join(''),
    async apply(events, tables) {
      let tenant: string | undefined;
      for (const event of events) {
        const decoded = opening.codec.decode(event);
        if (decoded.meta.tenantId !== tenant) {
          tenant = decoded.meta.tenantId;
          await tables.query(`select set_config('palimpsest.tenant', $1::text, true)`, [tenant]);
        }
        if (isEnding(event)) await erase(definition, event, tables);
        await handle(definition, ownEvent(name, decoded, opening), event, tables);
      }
    },
  };
}

/**
 * The rows of all tenants, and beside them a view of those of one: the tenant of the event that is handled, or of who asks. Handlers and
 * queries know the view. Names and types were checked: they are the operator's own SQL.
 */
function tableSql([name, { columns, key, erase }]: readonly [string, OwnTable]): string {
  const lines = Object.entries(columns).map(([column, type]) => `  ${column} ${type === 'sealed' ? 'text' : type},`);
  const byConversation = erase === 'keep' ? '' : `create index on read.${name}_rows ((${erase.rowsBy}::text));\n`;
  return `
create table read.${name}_rows (
  tenant_id text not null default current_setting('palimpsest.tenant'),
${lines.join('\n')}
  primary key (tenant_id, ${key.join(', ')})
);
${byConversation}create view read.${name} as
  select * from read.${name}_rows where tenant_id = current_setting('palimpsest.tenant') with local check option;
`;
}

/** The end of a conversation, or of its own key. */
const isEnding = ({ type, stream, data }: StoredEvent): boolean =>
  type === 'ConversationDeleted' || (type === 'KeyDestroyed' && data['keyId'] === stream);

async function erase({ tables: all }: OwnDefinition, { stream }: StoredEvent, tables: Tables): Promise<void> {
  for (const [name, { erase }] of Object.entries(all))
    if (erase !== 'keep')
      await tables.query(`delete from read.${name}_rows where ${erase.rowsBy}::text = $1::text`, [
        stream.slice('conversation-'.length),
      ]);
}

/** What can't be opened any more was erased: nothing is kept of it, and its end is yet to come in the log. */
async function handle(definition: OwnDefinition, own: OwnEvent, event: StoredEvent, tables: Tables): Promise<void> {
  try {
    await definition.on[own.type]?.(own, tables);
  } catch (error) {
    if (!(error instanceof Sealed)) throw error;
    await erase(definition, event, tables);
  }
}

function ownEvent(projection: string, decoded: Decoded, { keys }: Opening): OwnEvent {
  const { type, data, stream, revision, position, id, meta, open } = decoded;
  const conversationId = stream.slice('conversation-'.length);
  return {
    ...{ type, data, conversationId, tenantId: meta.tenantId, revision, position, id, at: meta.occurredAt, open },
    async seal(value) {
      const key = await keys.open(conversationKeyId(conversationId));
      return `${conversationId}/${id}/${await key.seal(placeOf(projection, id), (value ?? null) as Json)}`;
    },
  };
}

const placeOf = (projection: string, id: string) => ({
  ...{ stream: `projection-${projection}`, id, type: 'column', field: 'sealed' },
});

/** What a column of type `sealed` holds; null where the conversation was erased. */
export async function openSealed(projection: string, sealed: unknown, keys: KeyRing): Promise<Json> {
  if (typeof sealed !== 'string') return null;
  const [conversationId = '', id = '', envelope = ''] = sealed.split('/');
  try {
    return await (await keys.open(conversationKeyId(conversationId))).open(placeOf(projection, id), envelope);
  } catch (error) {
    if (error instanceof Sealed) return null;
    throw error;
  }
}
