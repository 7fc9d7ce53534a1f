import { own } from '#server/kernel/context.ts';
import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import { descriptions } from './descriptions.ts';
import { announceEndingLeaves, tellOfEndingRoots } from './notices.ts';
import * as operations from './operations.ts';
import { expireIntermediates, renewCrls, rotateDueIntermediates, signQueuedCrl, signStaleCrls } from './schedules.ts';
import { eraseKeys } from './store.ts';

export const pki = family({
  name: 'pki',
  namespace: 'pki',
  router: 'pki',
  tag: 'PKI',
  descriptions,
  operations,
  resources: [
    {
      type: 'pki_root',
      limit: 'pki_roots',
      search: { needs: 'pki:read', page: (id) => `/pki/${id}` },
    },
    {
      type: 'pki_role',
      inspect: {
        needs: 'pki:read',
        find: async (tx, ctx, id) => {
          const row = await tx.pki_roles.findFirst({
            where: { ...own(ctx), id },
            select: { name: true, root: { select: { id: true, name: true } } },
          });
          return row && { title: row.name, subtitle: row.root.name, path: `/pki/${row.root.id}?tab=roles` };
        },
      },
    },
    {
      type: 'pki_leaf',
      inspect: {
        needs: 'pki:read',
        find: async (tx, ctx, id) => {
          const row = await tx.pki_certificates.findFirst({
            where: { ...own(ctx), id },
            select: { subject: true, serial_hex: true, root: { select: { id: true } } },
          });
          return row && { title: row.subject || row.serial_hex, subtitle: row.serial_hex, path: `/pki/${row.root.id}?tab=certificates` };
        },
      },
    },
  ],
  tables: [
    { name: 'pki_roots', reset: 'delete', wipe: (tx, ctx) => eraseKeys(tx, ctx) },
    { name: 'pki_intermediates', reset: 'cascade' },
    { name: 'pki_crls', reset: 'cascade' },
    { name: 'pki_responders', reset: 'cascade' },
    { name: 'pki_roles', reset: 'cascade' },
    { name: 'pki_certificates', reset: 'cascade' },
  ],
  jobs: {
    rotate_intermediates: { cron: '12 * * * *', run: ({ now, signal }) => rotateDueIntermediates(db(), now, signal) },
    expire_intermediates: { cron: '14 * * * *', run: ({ now, signal }) => expireIntermediates(db(), now, signal) },
    renew_crls: { cron: '16 * * * *', run: ({ now, signal }) => renewCrls(db(), now, signal) },
    sign_stale_crls: { cron: '* * * * *', atStart: true, run: ({ now, signal }) => signStaleCrls(db(), now, signal) },
    sign_crl: { run: ({ now, payload }) => signQueuedCrl(db(), now, payload) },
    tell_of_ending_roots: { cron: '40 8 * * *', run: ({ now }) => tellOfEndingRoots(db(), now) },
    announce_ending_certificates: { cron: '45 * * * *', run: ({ now }) => announceEndingLeaves(db(), now) },
  },
  actions: [{ id: 'create-root', title: 'Create certificate authority', path: '/pki?open=new', needs: 'pki:create' }],
});
