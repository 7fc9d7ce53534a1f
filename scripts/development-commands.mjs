/** Commands of developers, which need the packages of development: judges of tests, generators, linters. All other commands run with those of the product. */
export const developmentCommands = ['test', 'check', 'bench', 'sdk', 'exec'];
