import type { SyntheticReason } from './events';

/** What the model reads in place of a result. */
const TEXTS: Readonly<Record<Exclude<SyntheticReason, 'invalid'>, string>> = {
  interrupted:
    'Interrupted: this tool call was started and its outcome is unknown. It may have happened, and it may still happen.',
  not_started: 'Not started: the turn ended before this tool call ran. It had no effect.',
  rejected: 'Rejected: a person refused this tool call. It did not run.',
  expired: 'Expired: nobody approved this tool call in time. It did not run.',
};

const INVALID = {
  unknown_tool: 'Not run: there is no tool of this name.',
  invalid_arguments: "Not run: the arguments do not fit the tool's schema.",
} as const;

export const syntheticText = (reason: Exclude<SyntheticReason, 'invalid'>): string => TEXTS[reason];

/** For an invalid call whose own text is no longer at hand: whoever goes on knows only why. */
export const invalidText = (why: keyof typeof INVALID): string => INVALID[why];
