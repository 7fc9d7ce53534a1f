import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { operation } from '#server/kernel/operation.ts';

/** The committed description, the same bytes that the public path serves (interface rule 70 §11). */
const text = () => readFile('public/openapi.json', 'utf8');

export const document = operation({
  id: 'openapi.get',
  summary: 'Get the OpenAPI document',
  http: 'GET /openapi.json',
  needs: 'any',
  refuses: [],
  input: z.object({}),
  output: z.string(),
  stream: async () => ({ status: 200, headers: { 'content-type': 'application/json; charset=utf-8' }, body: await text() }),
  run: text,
});
