import { z } from 'zod';
import { exporting, operation } from '#server/kernel/operation.ts';
import { exportReveals, listReveals, revealingPeople } from './log.ts';
import { ExportReveals, ListReveals, RevealEntry, RevealingPeople } from './schema.ts';

export const list = operation({
  id: 'reveals.list',
  summary: 'List who revealed which stored value',
  http: 'GET /admin/reveals',
  kind: 'read',
  needs: ['audit_log:list'],
  refuses: [],
  input: ListReveals,
  output: z.array(RevealEntry),
  list: 'paged',
  run: (ctx, input) => listReveals(ctx, input),
});

export const people = operation({
  id: 'reveals.people',
  summary: 'List the people in the reveal log',
  http: 'GET /admin/reveals/people',
  kind: 'read',
  needs: ['audit_log:list'],
  refuses: [],
  input: z.object({}),
  output: RevealingPeople,
  run: (ctx) => revealingPeople(ctx),
});

export const exported = exporting({
  id: 'reveals.export',
  summary: 'Export the reveal log',
  http: 'GET /admin/reveals/export',
  needs: ['audit_log:export'],
  feature: 'audit_export',
  refuses: [],
  input: ExportReveals,
  stream: exportReveals,
});
