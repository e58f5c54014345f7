export interface ReadinessReport {
  readonly ready: boolean;
  /** One line a part that this process needs. Open to everybody: no addresses, no content. */
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly detail?: string }>>;
}

export abstract class Readiness {
  abstract check(): Promise<ReadinessReport>;
}
