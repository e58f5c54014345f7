import type { Client } from './client';
import { Deployment, type InnerProcess } from './installation';

/**
 * An installation with one process in it and a tenant's client. A spec that imports them has one of its own: it starts before the spec's
 * tests, and ends after them.
 */
export let deployment: Deployment;
export let process: InnerProcess;
export let api: Client;

beforeAll(async () => {
  deployment = await Deployment.open();
  process = await deployment.start();
  api = await deployment.client(process);
});
beforeEach(() => deployment.tools.behave());
afterAll(() => deployment.close());

/** What the simulated model is told to answer. */
export const say = (text: string): string => `[[sim: say ${text}]]`;
