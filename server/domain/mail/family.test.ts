import { testFamily } from '#server/testing/suites.ts';
import { mail } from './family.ts';

await testFamily(mail);
