/** What is wrong with the operator's file of models, one sentence a line. */
export class ModelsFileError extends Error {
  override readonly name = 'ModelsFileError';
}
