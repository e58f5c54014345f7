/** The model that an assistant, or a part of its work, asks. */
export interface ModelChoice {
  readonly provider: 'openai' | 'anthropic' | 'simulated';
  readonly name: string;
  /** Tokens: the context window less the output reserve. */
  readonly inputCap: number;
  readonly maxOutputTokens: number;
  /** Further fields of the request body (temperature, ...), sent as they are. */
  readonly params: Readonly<Record<string, unknown>>;
}
