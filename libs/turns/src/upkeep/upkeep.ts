import type { AssistantDefinition } from '@palimpsest/assistant';
import type { ConversationIdentity } from '../identity';

/** One way in which a conversation's context is kept small. */
export interface Upkeep {
  /** Whether an assistant has it at all. */
  isWanted(definition: AssistantDefinition): boolean;
  /**
   * Does at the head what is due there before a question of so many tokens, and resolves when that has ended, well or not. Gives the tokens that
   * a question may have before there is more to do at this head: `Infinity` where nothing depends on it.
   */
  keep(conversation: ConversationIdentity, definition: AssistantDefinition, more: number): Promise<number>;
}

/** Something was done, or is: what is due next is not known. */
export const LOOK_AGAIN = 0;
