/** Preloaded into somebody else's server: whatever port it asks for, it gets a free one on 127.0.0.1, and says which. */
const { Server } = require('node:net');

const { listen } = Server.prototype;
Server.prototype.listen = function (_port, ...rest) {
  this.once('listening', () => process.stdout.write(`bound to ${this.address().port}\n`));
  return listen.call(
    this,
    0,
    '127.0.0.1',
    rest.find((argument) => typeof argument === 'function'),
  );
};
