import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { Deployment } from '../support/installation';

it('refuses to start with another installation’s key, and serves again with its own', async () => {
  const deployment = await Deployment.open();
  try {
    const first = await deployment.start();
    const api = await deployment.client(first);
    const conversationId = await api.conversation();
    await first.close();

    const strange = deployment.file('strange-key');
    writeFileSync(strange, randomBytes(32).toString('base64'), { mode: 0o600 });
    await expect(deployment.start({ PALIMPSEST_MASTER_KEY_FILE: strange })).rejects.toThrow(
      /key is not the one that this database's keys are wrapped by.*Put the right one back/,
    );

    const second = await deployment.start();
    expect(await api.at(second).ask(conversationId, '[[sim: say here again]]')).toMatchObject({
      status: 'completed',
      stopReason: 'stop',
    });
  } finally {
    await deployment.close();
  }
});
