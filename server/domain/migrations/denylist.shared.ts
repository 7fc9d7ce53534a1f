export type PatternKind = 'glob' | 'regex' | 'tag';
export type Pattern = { pattern: string; kind: PatternKind };

/** What a workspace denies until it says otherwise: values that a store rotates by itself, and those of infrastructure (interface rule 35 §8). */
export const DEFAULT_PATTERNS: readonly (Pattern & { note: string })[] = [
  { pattern: 'rds!*', kind: 'glob', note: 'Rotated by RDS' },
  { pattern: 'aws/*', kind: 'glob', note: 'Managed by AWS' },
  { pattern: 'aws-*-managed/*', kind: 'glob', note: 'Managed by AWS' },
  { pattern: '*/terraform/state*', kind: 'glob', note: 'Terraform state' },
  { pattern: '*-kms-*', kind: 'glob', note: 'Key material' },
  { pattern: 'sys/*', kind: 'glob', note: "Vault's own" },
  { pattern: 'cubbyhole/*', kind: 'glob', note: "Vault's own" },
];
