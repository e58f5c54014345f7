/** Programs whose exports are read; the word is the `format` in the provenance of what they wrote. */
export const FOREIGN_FORMATS = ['chatgpt', 'librechat', 'open-webui'] as const;
export type ForeignFormat = (typeof FOREIGN_FORMATS)[number];
