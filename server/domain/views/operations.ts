import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import { CreateView, ListViews, UpdateView, View, ViewRef } from './schema.ts';
import * as views from './service.ts';

// Which capability a view needs depends on the page it is of: the verbs ask for it.

export const list = operation({
  id: 'views.list',
  summary: 'List the views of a page',
  http: 'GET /admin/views',
  kind: 'read',
  needs: 'any',
  refuses: ['role_denied'],
  input: ListViews,
  output: z.array(View),
  list: 'whole',
  run: async (ctx, input, families) => wholeList(await views.listViews(ctx, input, families)),
});

export const create = operation({
  id: 'views.create',
  summary: 'Save a view',
  http: 'POST /admin/views',
  kind: 'change',
  needs: 'any',
  refuses: ['role_denied', 'conflict'],
  input: CreateView,
  output: View,
  success: 201,
  run: views.createView,
});

export const update = operation({
  id: 'views.update',
  summary: 'Update a view',
  http: 'PATCH /admin/views/{id}',
  kind: 'change',
  needs: 'any',
  refuses: ['not_found', 'role_denied', 'conflict'],
  input: UpdateView,
  output: View,
  run: views.updateView,
});

const remove = operation({
  id: 'views.delete',
  summary: 'Delete a view',
  http: 'DELETE /admin/views/{id}',
  kind: 'change',
  needs: 'any',
  refuses: ['not_found', 'role_denied'],
  input: ViewRef,
  output: Deleted,
  run: views.deleteView,
});

export { remove as delete };
