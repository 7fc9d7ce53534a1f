import { evaluateAlerts } from '#server/domain/alerts/evaluation.ts';
import { startDeliveries } from '#server/domain/deliveries/service.ts';
import { runNotifications } from '#server/domain/notifications/service.ts';
import { db } from '#server/platform/db.ts';
import { deathOf, dieAt } from '#server/testing/dying.ts';
import { channels } from './channels.ts';

// One of the worker's loops, with what the worker runs it with, which dies at a statement that its arguments name.

const [, , , loop, now] = process.argv;
dieAt(deathOf(process.argv));
if (loop === 'deliveries') startDeliveries(channels, { pauseMs: 50 });
if (loop === 'alerts') await evaluateAlerts(db(), new Date(now ?? ''));
if (loop === 'notifications') while (true) await runNotifications(db(), new Date());
