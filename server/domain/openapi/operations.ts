import { z } from 'zod';
import { operation } from '#server/kernel/operation.ts';
import { openApiFile } from '#server/platform/openapi-file.ts';

export const document = operation({
  id: 'openapi.get',
  summary: 'Get the OpenAPI document',
  http: 'GET /openapi.json',
  kind: 'read',
  needs: 'any',
  refuses: [],
  input: z.object({}),
  output: z.string(),
  stream: async () => ({ status: 200, headers: { 'content-type': 'application/json; charset=utf-8' }, body: await openApiFile() }),
  run: openApiFile,
});
