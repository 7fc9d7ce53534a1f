import { testFamily } from '#server/testing/suites.ts';
import { vaults } from './family.ts';

await testFamily(vaults);
