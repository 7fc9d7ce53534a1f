import { type Fixture, fresh, nothing, type Sample } from '#server/testing/factories.ts';
import { ELEMENT_PROTECTIONS } from './service.ts';

const origins: Sample = async () => ({ origins: [`https://${fresh('shop').toLowerCase()}.example.com`] });

export const samples: Record<string, Sample> = { 'elements.get': nothing, 'elements.set_origins': origins };

export const loosening: Fixture['loosening'] = {
  'elements.set_origins': {
    rules: ELEMENT_PROTECTIONS,
    of: nothing,
    pairs: { origins: { strict: { origins: [] }, loose: { origins: ['https://shop.example.com'] } } },
  },
};
