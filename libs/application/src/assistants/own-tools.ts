import { READ_RESULT } from '@palimpsest/context';
import { NOTE_STATE, RECALL_STATE } from '@palimpsest/tools';

/** Tools that come with an assistant by themselves: nobody names them. */
export const OWN_TOOLS: ReadonlySet<string> = new Set([READ_RESULT, NOTE_STATE, RECALL_STATE]);
