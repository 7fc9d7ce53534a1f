import { testFamily } from '#server/testing/suites.ts';
import { aiGateways } from './family.ts';

await testFamily(aiGateways);
