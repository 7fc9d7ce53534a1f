import { fresh, made, type Sample } from '#server/testing/factories.ts';

const role: Sample = async (ctx) => {
  const { root } = await made(ctx, 'pki.create_root', { name: fresh('root'), subject: { CN: 'Acme Internal CA' } });
  const { name } = await made(ctx, 'pki.create_role', { name: root.name, role_name: fresh('web'), allowed_domains: ['example.com'] });
  return { name: root.name, role: name };
};
const account: Sample = async (ctx) => ({ ...(await role(ctx)), label: 'web-1' });

export const samples: Record<string, Sample> = {
  'acme.list_accounts': async (ctx) => {
    const at = await account(ctx);
    await made(ctx, 'acme.create_account', at);
    return { name: at.name, role: at.role };
  },
  'acme.create_account': account,
  'acme.delete_account': async (ctx) => {
    const at = await account(ctx);
    const { id } = await made(ctx, 'acme.create_account', at);
    return { name: at.name, role: at.role, id };
  },
};

export const shownOnce = { 'acme.create_account': ['hmac_key'] };
