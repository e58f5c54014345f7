/**
 * The simulated model in a process of its own: what it does with a body of several megabytes must not share an event loop with what is
 * measured. It tells how long it took itself, from the last byte of a request to the last byte of its answer. Beside it a null server,
 * that reads what it gets and says one word, and gives out the bodies that the model got last.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { subscribe } from 'node:diagnostics_channel';
import { startSimulatedModel } from '@palimpsest/providers';

let spentMs = 0;
const arrived = new WeakMap<IncomingMessage, number>();
/** Of the last two requests to the model, the older one first. */
let bodies: readonly Buffer[] = [];

subscribe('http.server.request.start', (message) => {
  const { request } = message as { request: IncomingMessage };
  request.once('end', () => arrived.set(request, performance.now()));
});
subscribe('http.server.response.finish', (message) => {
  const { request } = message as { request: IncomingMessage };
  spentMs += performance.now() - (arrived.get(request) ?? performance.now());
});

const WORD = {
  id: 'null',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { content: 'So.' }, finish_reason: 'stop' }],
};
const SAYS = `data: ${JSON.stringify(WORD)}\n\ndata: [DONE]\n\n`;

/** Reads as the model does: how fast a body can be sent is the receiver's affair too. */
async function sayOneWord(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  Buffer.concat(parts);
  const [, which] = /^\/bodies\/(\d)$/.exec(request.url ?? '') ?? [];
  if (which !== undefined) return void response.end(bodies[Number(which)]);
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(SAYS);
}

async function main(): Promise<void> {
  const onRequest = (body: Buffer): void => void (bodies = [...bodies.slice(-1), body]);
  const model = await startSimulatedModel({ onRequest });
  const nothing = createServer((request, response) => {
    sayOneWord(request, response).catch(() => response.destroy());
  });
  nothing.keepAliveTimeout = 60_000;
  await new Promise<void>((listening) => nothing.listen(0, '127.0.0.1', listening));
  // Asked for after each turn, and counted anew from then on.
  process.on('message', () => {
    process.send?.({ spentMs });
    spentMs = 0;
  });
  process.once('disconnect', () => process.exit(0));
  process.send?.({ model: model.url, nothing: `http://127.0.0.1:${(nothing.address() as AddressInfo).port}` });
}

void main();
