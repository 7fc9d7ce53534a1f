import { z } from 'zod';
import { operation } from '#server/kernel/operation.ts';
import { DirectoryUser, ListDirectoryPeople } from './schema.ts';
import { listDirectoryPeople } from './service.ts';

export const list = operation({
  id: 'scim_users.list',
  summary: 'List people of the directory',
  http: 'GET /admin/scim/users',
  kind: 'read',
  needs: ['scim_credential:list'],
  refuses: [],
  input: ListDirectoryPeople,
  output: z.array(DirectoryUser),
  list: 'paged',
  run: (ctx, input) => listDirectoryPeople(ctx, input),
});
