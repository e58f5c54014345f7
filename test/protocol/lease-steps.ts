import { type AddStep, spend, type State } from './world-state';

/** What may become of the lease of the turn's carrier: it lapses in the end where nobody renews it, and may too while the carrier lives. */
export function leaseSteps(s: State, step: AddStep): void {
  const carrier = s.log.view.turn?.carrier;
  if (!carrier || s.lapsed || s.leaseless === carrier) return;
  const lives = Object.values(s.procs).some(({ name, up }) => up === 'up' && carrier.split('@')[0] === name);
  if (!lives)
    step(
      () => `the lease of ${carrier} lapses`,
      true,
      () => ({ ...s, lapsed: true }),
    );
  else if (s.budget.lapse)
    step(
      () => `the lease of ${carrier} lapses, and it lives`,
      false,
      () => ({ ...spend(s, 'lapse'), lapsed: true }),
    );
}
