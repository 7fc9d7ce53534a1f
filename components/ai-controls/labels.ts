import type { z } from 'zod';
import type { Tone } from '#components/ui/badge.tsx';
import type { FirewallPolicy, PII_ACTIONS, PiiPolicy, PiiRecognizer } from '#server/domain/ai-controls/schema.ts';

export type PiiPolicyRow = z.output<typeof PiiPolicy>;
export type RecognizerRow = z.output<typeof PiiRecognizer>;
export type FirewallRow = z.output<typeof FirewallPolicy>;
export type PiiAction = (typeof PII_ACTIONS)[number];

export const ACTION_LABELS: Readonly<Record<PiiAction, string>> = {
  redact: 'Redact',
  tokenize: 'Tokenize',
  warn: 'Only record',
  whitelist: 'Exempt',
};
export const ACTION_HINTS: Readonly<Record<PiiAction, string>> = {
  redact: 'A placeholder such as <EMAIL_ADDRESS> is sent.',
  tokenize: 'A token is sent, and becomes the value again in the answer.',
  warn: 'The value is sent unchanged, and counted.',
  whitelist: 'The value is sent unchanged, whatever else would match it.',
};
export const ACTION_TONES: Readonly<Record<PiiAction, Tone>> = { redact: 'bad', tokenize: 'accent', warn: 'warn', whitelist: 'neutral' };

export const FIREWALL_LABELS = { block: 'Block', warn: 'Warn', tag: 'Only log' } as const;
export const FIREWALL_HINTS = {
  block: 'The call is refused with firewall_block.',
  warn: 'The call goes on, and its answer has a warning header.',
  tag: 'The call goes on, and the log names the rule.',
} as const;
export const FIREWALL_TONES = { block: 'bad', warn: 'warn', tag: 'neutral' } as const;

export const PACK_NAMES: Readonly<Record<string, string>> = { hipaa: 'HIPAA', gdpr: 'GDPR', 'pci-dss': 'PCI DSS', soc2: 'SOC 2' };
