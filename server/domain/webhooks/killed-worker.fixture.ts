import type { Channel } from '#server/domain/deliveries/service.ts';
import { startDeliveries } from '#server/domain/deliveries/service.ts';
import { webhookChannel } from './channel.ts';
import { CHANNEL } from './options.shared.ts';

// A worker that ends without a word (kill -9) at one point of its first attempt, which its argument names.

const at = process.argv[2];
const die = (): never => {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('still here');
};

const real = webhookChannel();
const channel: Channel = {
  async deliver(attempt, signal) {
    if (at === 'claimed') die();
    const outcome = await real.deliver(attempt, signal);
    if (at === 'sent') die();
    return outcome;
  },
  async record(client, entries) {
    await real.record?.(client, entries);
    if (at === 'recorded') die();
  },
};

startDeliveries(
  { [CHANNEL]: channel },
  {
    pauseMs: 50,
    mark: (point) => {
      if (point === at) die();
    },
  },
);
