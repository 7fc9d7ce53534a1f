import { environment } from '#server/domain/environments/samples.fixture.ts';
import { type Fixture, fresh, idOf, made, nothing, type Sample } from '#server/testing/factories.ts';

export const secret: Sample = async () => ({ name: fresh('SECRET').replaceAll('-', '_'), value: fresh('a value nobody may see') });
export const secretId = idOf('secrets.create', secret);
const twoValues: Sample = async (ctx) => {
  const { id } = await secretId(ctx);
  const env = (await made(ctx, 'environments.create', await environment(ctx))).name;
  await made(ctx, 'secrets.put_value', { id, value: 'second', environment: env });
  return { id, env };
};

export const samples: Record<string, Sample> = {
  'secrets.list': nothing,
  'secrets.get': secretId,
  'secrets.create': secret,
  'secrets.update': async (ctx) => ({ ...(await secretId(ctx)), description: 'changed' }),
  'secrets.delete': secretId,
  'secrets.put_value': async (ctx) => ({ ...(await secretId(ctx)), value: 'rotated' }),
  'secrets.update_environment': async (ctx) => ({
    ...(await secretId(ctx)),
    env: 'production',
    expires_at_override: '2030-01-01T00:00:00Z',
  }),
  'secrets.remove_value': twoValues,
  'secrets.restore': async (ctx) => {
    const { id } = await secretId(ctx);
    await made(ctx, 'secrets.put_value', { id, value: 'newer' });
    return { id };
  },
  'secrets.usage': secretId,
  'secrets.versions': secretId,
  'secrets.reveal': secretId,
  'secrets.import_env': async () => ({ content: `${fresh('A').replaceAll('-', '_')}=1\n` }),
};

export const revealed: Fixture['revealed'] = { 'secrets.reveal': ({ value }) => [value] };
export const peopleOnly = ['secrets.restore'];
export const dependsOnState = [/would cover hosts of everyone/];
export const secretInput = { 'secrets.create': ['value'], 'secrets.import_env': ['content'], 'secrets.put_value': ['value'] };

/** One date, edited in place. */
export const unguardedEdits = ['secrets.update_environment'];
