import { testFamily } from '#server/testing/suites.ts';
import { clients } from './family.ts';

await testFamily(clients);
