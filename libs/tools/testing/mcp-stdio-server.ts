import { appendFileSync } from 'node:fs';
import { mcpServer } from './mcp-server';

/** The program of `stdioServer`: what it is sent and what it runs goes into its journal, a line each. */
async function main(): Promise<void> {
  const journal = process.env['JOURNAL'] ?? '';
  const write = (entry: object) => appendFileSync(journal, `${JSON.stringify(entry)}\n`);
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  write({ started: process.pid, env: process.env });
  process.stdin.on('data', (chunk: Buffer) => write({ received: chunk.toString('utf8') }));
  process.stdout.write('Welcome!\n');
  process.stderr.write('a secret on standard error\n');
  if (process.env['STUBBORN'] === 'yes') {
    process.on('SIGTERM', () => undefined);
    setInterval(() => undefined, 1_000);
  }
  await (await mcpServer((run) => write({ run }))).connect(new StdioServerTransport());
}

void main();
