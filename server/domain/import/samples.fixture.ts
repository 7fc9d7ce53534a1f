import { route } from '#server/domain/routes/samples.fixture.ts';
import { secret } from '#server/domain/secrets/samples.fixture.ts';
import type { Sample } from '#server/testing/factories.ts';

export const samples: Record<string, Sample> = {
  'import.propose': async () => ({ kind: 'curl', text: "curl https://api.example.com/v1/things -H 'Authorization: Bearer abc123def456'" }),
  'import.apply': async (ctx) => ({ routes: [await route(ctx)], secrets: [await secret(ctx)] }),
};

export const secretInput = { 'import.apply': ['secrets[].value'], 'import.propose': ['text'] };
export const shownOnce = { 'import.propose': ['routes[].sample_call.body', 'routes[].sample_call.body_options[]', 'secrets[].value'] };
