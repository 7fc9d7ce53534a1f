import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cronText, triggerText } from './trigger-text.ts';

test('the usual schedules are said in words, others as they are written', () => {
  for (const [cron, words] of [
    ['0 9 * * *', 'Every day at 09:00'],
    ['5 9 * * 1-5', 'Weekdays at 09:05'],
    ['30 18 * * fri', 'Every Friday at 18:30'],
    ['30 18 * * 7', 'Every Sunday at 18:30'],
    ['*/15 * * * *', 'Every 15 minutes'],
    ['*/1 * * * *', 'Every minute'],
    ['*/45 * * * *', 'Cron */45 * * * *'],
    ['0 */6 * * *', 'Every 6 hours'],
    ['0 */1 * * *', 'Every hour'],
    ['0 */5 * * *', 'Cron 0 */5 * * *'],
    ['24 */5 * * *', 'Cron 24 */5 * * *'],
    ['99 9 * * *', 'Cron 99 9 * * *'],
    ['0 24 * * *', 'Cron 0 24 * * *'],
    ['0 0 32 * *', 'Cron 0 0 32 * *'],
    ['0 0 */2 * *', 'Cron 0 0 */2 * *'],
    ['5 * * * *', 'Every hour at :05'],
    ['0 0 1 * *', 'On day 1 of the month at 00:00'],
    ['0 9,12 * * *', 'Cron 0 9,12 * * *'],
    ['0 9 * 1 *', 'Cron 0 9 * 1 *'],
    ['nonsense', 'Cron nonsense'],
  ] as const)
    assert.equal(cronText(cron), words);
});

test('each trigger says what starts it', () => {
  assert.equal(triggerText({ triggerType: 'schedule', cron: '0 9 * * *', timezone: 'Europe/Berlin' }), 'Every day at 09:00, Europe/Berlin');
  assert.equal(triggerText({ triggerType: 'schedule', every: { minutes: 120 } }), 'Every 2 hours');
  assert.equal(
    triggerText({ triggerType: 'proxy_event', proxyEventConfig: { eventTypes: ['request.server_error'] } }),
    'Calls: server error',
  );
  assert.equal(triggerText({ triggerType: 'webhook', mode: 'sync' }), 'A request to its URL, answered');
  assert.equal(triggerText(undefined), 'No trigger yet');
});
