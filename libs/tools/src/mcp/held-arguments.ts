import { randomUUID } from 'node:crypto';

/** A call whose arguments are held. */
export interface HeldCall {
  /** The model's raw JSON text. */
  readonly text: string;
  readonly signal: AbortSignal;
  /** Nothing will answer this call any more. */
  readonly broke: (error: Error) => void;
}

/**
 * A model's arguments leave byte for byte: parsing and printing them would change large numbers and the order of keys, and what runs must
 * be what was approved. So a message holds a random token in their place, which gives way to the text as the message leaves.
 */
export class HeldArguments {
  private readonly calls = new Map<string, HeldCall>();

  hold(call: HeldCall): { readonly token: string; readonly release: () => void } {
    const token = randomUUID();
    this.calls.set(token, call);
    return { token, release: () => void this.calls.delete(token) };
  }

  /** A message as it leaves, on one line, and the call that it makes. */
  restore(message: string): { readonly message: string; readonly call?: HeldCall } {
    for (const [token, call] of this.calls) {
      const at = message.indexOf(`"${token}"`);
      if (at < 0) continue;
      // A line break in JSON can only stand between its parts.
      const text = call.text.trim() === '' ? '{}' : call.text.replace(/[\r\n]/g, ' ');
      return { message: message.slice(0, at) + text + message.slice(at + token.length + 2), call };
    }
    return { message };
  }
}
