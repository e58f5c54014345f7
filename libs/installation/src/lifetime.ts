/** Why a process ends: somebody asked, or it lost what it can't be without. */
export type Ending = { readonly signal: NodeJS.Signals } | { readonly lost: Error };

export interface Lifetime {
  readonly ending: Promise<Ending>;
  /** Ends the process for a reason of its own. */
  readonly lose: (error: Error) => void;
}

/** npm passes a Ctrl-C on to a process that the terminal has told already: two signals within this time are one wish. Milliseconds. */
const ONE_WISH_MS = 1_000;

/** A second signal ends the process at once; nothing that was acknowledged is lost by it. */
export function lifetimeOfThisProcess(): Lifetime {
  let lose: (error: Error) => void = () => undefined;
  const ending = new Promise<Ending>((resolve) => {
    lose = (lost) => resolve({ lost });
    let askedAt: number | undefined;
    const ask = (signal: NodeJS.Signals) => {
      if (askedAt !== undefined && performance.now() - askedAt > ONE_WISH_MS) process.exit(130);
      askedAt ??= performance.now();
      resolve({ signal });
    };
    process.on('SIGINT', ask);
    process.on('SIGTERM', ask);
  });
  return { ending, lose };
}

/** Becomes the program: exit code 0 once it is done, else 1 and one sentence on standard error. */
export function run(main: () => Promise<void>): void {
  main().then(
    () => process.exit(0),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      process.exit(1);
    },
  );
}
