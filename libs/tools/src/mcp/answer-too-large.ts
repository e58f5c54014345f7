export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
  constructor(readonly maxBytes: number) {
    super(`an answer is larger than ${maxBytes} bytes`);
  }
}
