import type { ProviderName, Trusted } from '#server/domain/trust-bindings/providers.shared.ts';

export type PresetField = {
  name: string;
  label: string;
  placeholder: string;
  hint?: string;
  /** A choice instead of a text. */
  options?: readonly { value: string; label: string }[];
  /** Only for these values of `where`. */
  when?: readonly string[];
};
/** Plain questions, and the conditions that their answers make. */
export type Preset = {
  fields: readonly PresetField[];
  build: (values: Readonly<Record<string, string>>) => { subject: string; claims: Trusted['claims'] };
};

const given = (claims: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(claims).flatMap(([name, value]) => (value?.trim() ? [[name, value.trim()]] : [])));

/** Nothing while a part is missing: half a subject would trust somebody else. */
const subjectOf = (...parts: readonly (string | undefined)[]): string =>
  parts.every((part) => part?.trim()) ? parts.map((part) => part?.trim()).join('') : '';

const WHERE = {
  branch: 'ref:refs/heads/',
  environment: 'environment:',
  tag: 'ref:refs/tags/',
} as const;

const serviceAccount: readonly PresetField[] = [
  { name: 'namespace', label: 'Namespace', placeholder: 'production' },
  { name: 'account', label: 'Service account', placeholder: 'deployer' },
];
const kubernetes: Preset = {
  fields: serviceAccount,
  build: ({ namespace, account }) => ({ subject: subjectOf('system:serviceaccount:', namespace, ':', account), claims: {} }),
};

export const PRESETS: Readonly<Partial<Record<ProviderName, Preset>>> = {
  github_actions: {
    fields: [
      { name: 'owner', label: 'Owner', placeholder: 'acme' },
      { name: 'repo', label: 'Repository', placeholder: 'app' },
      {
        name: 'where',
        label: 'Runs',
        placeholder: '',
        options: [
          { value: 'branch', label: 'On a branch' },
          { value: 'environment', label: 'In an environment' },
          { value: 'tag', label: 'On a tag' },
          { value: 'pull_request', label: 'For a pull request' },
          { value: 'any', label: 'Anywhere in the repository' },
        ],
      },
      { name: 'value', label: 'Branch, environment or tag', placeholder: 'main', when: ['branch', 'environment', 'tag'] },
      { name: 'owner_id', label: 'Owner ID', placeholder: '1234567', hint: 'Optional. It never changes hands, unlike a name.' },
    ],
    build: ({ owner, repo, where = 'branch', value, owner_id }) => {
      const repository = ['repo:', owner, '/', repo, ':'];
      const rest = where === 'any' ? ['**'] : where === 'pull_request' ? ['pull_request'] : [WHERE[where as keyof typeof WHERE], value];
      return { subject: subjectOf(...repository, ...rest), claims: given({ repository_owner_id: owner_id }) };
    },
  },
  gitlab: {
    fields: [
      { name: 'project', label: 'Project path', placeholder: 'acme/app' },
      { name: 'ref', label: 'Branch or tag', placeholder: 'main', hint: 'Leave it empty for all of them.' },
    ],
    build: ({ project, ref }) => ({ subject: '', claims: given({ project_path: project, ref }) }),
  },
  gcp: {
    fields: [{ name: 'id', label: 'Service account ID', placeholder: '113774264463038321964', hint: 'The number, not the email address.' }],
    build: ({ id }) => ({ subject: subjectOf(id), claims: {} }),
  },
  aws_eks: kubernetes,
  kubernetes,
  aws_sts: {
    fields: [{ name: 'arn', label: 'Role ARN', placeholder: 'arn:aws:iam::123456789012:role/deployer' }],
    build: ({ arn }) => ({ subject: subjectOf(arn), claims: {} }),
  },
  azure: {
    fields: [
      {
        name: 'oid',
        label: 'Object ID',
        placeholder: '0a3d5f6e-1c2b-4d5e-8f90-a1b2c3d4e5f6',
        hint: 'Of the managed identity or service principal.',
      },
    ],
    build: ({ oid }) => ({ subject: '', claims: given({ oid }) }),
  },
  vercel: {
    fields: [
      { name: 'team', label: 'Team', placeholder: 'acme' },
      { name: 'project', label: 'Project', placeholder: 'web' },
      { name: 'environment', label: 'Environment', placeholder: 'production' },
    ],
    build: ({ team, project, environment }) => ({
      subject: subjectOf('owner:', team, ':project:', project, ':environment:', environment),
      claims: {},
    }),
  },
  circleci: {
    fields: [{ name: 'project', label: 'Project ID', placeholder: '6b1c8f0a-92f1-4e0a-a5d9-2c1f7f8f4b11' }],
    build: ({ project }) => ({ subject: '', claims: given({ '["oidc.circleci.com/project-id"]': project }) }),
  },
  buildkite: {
    fields: [
      { name: 'organization', label: 'Organization', placeholder: 'acme' },
      { name: 'pipeline', label: 'Pipeline', placeholder: 'deploy' },
      { name: 'branch', label: 'Branch', placeholder: 'main', hint: 'Leave it empty for all of them.' },
    ],
    build: ({ organization, pipeline, branch }) => ({
      subject: subjectOf('organization:', organization, ':pipeline:', pipeline, ':**'),
      claims: given({ build_branch: branch }),
    }),
  },
};
