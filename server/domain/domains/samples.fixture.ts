import { localResolvers } from '#server/platform/dns-txt.fixture.ts';
import { fresh, idOf, made, nothing, type Sample } from '#server/testing/factories.ts';
import { oncePerFile } from '#server/testing/file-end.ts';

const domain: Sample = async () => ({ domain: `${fresh('d')}.example` });

const resolvers = oncePerFile(localResolvers);

/** A domain whose record is published. */
const published: Sample = async (ctx) => {
  const [dns] = await resolvers();
  const { id, txt_name, txt_value } = await made(ctx, 'domains.create', await domain(ctx));
  dns.records.set(txt_name, [[txt_value]]);
  return { id };
};

export const samples: Record<string, Sample> = {
  'domains.list': nothing,
  'domains.create': domain,
  'domains.verify': published,
  'domains.delete': idOf('domains.create', domain),
};

/** Domains belong to the workspace and are the same in both spaces. */
export const ofWorkspace = true;
