import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The service behind the tool of the bench. It says what it was told to say, and how long it took itself. */
export class BenchTool {
  answer: () => string = () => '';
  private spentMs = 0;
  private readonly server = createServer((request, response) => {
    request.resume().once('end', () => {
      const arrived = performance.now();
      response.once('finish', () => (this.spentMs += performance.now() - arrived));
      response.writeHead(200, { 'content-type': 'application/json' }).end(this.answer());
    });
  });

  static async start(): Promise<BenchTool> {
    const tool = new BenchTool();
    await new Promise<void>((listening) => tool.server.listen(0, '127.0.0.1', listening));
    return tool;
  }

  /** Milliseconds from the last bytes of requests to the last bytes of answers, since this was asked last. */
  takeSpentMs(): number {
    const spent = this.spentMs;
    this.spentMs = 0;
    return spent;
  }

  /** What the operator of the installation writes down. */
  get toolsFile(): string {
    const url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/lookup`;
    const inputSchema = { type: 'object', properties: { customer: { type: 'string' } }, additionalProperties: true };
    const description = 'Looks up invoices of a customer';
    return JSON.stringify({
      http: [{ name: 'lookup', description, inputSchema, url, effect: 'read', allowPrivate: true }],
    });
  }

  async close(): Promise<void> {
    await new Promise<void>((closed) => {
      this.server.close(() => closed());
      this.server.closeAllConnections();
    });
  }
}
