/** Jest on SWC. Kinds of tests by file name: .unit.spec (no I/O), .int.spec (real database), .e2e.spec (the real processes). */
const { resolve } = require('node:path');

const rootDir = resolve(__dirname, '..');

/** Where the logs of a run are in EventStoreDB: stories whose logs stay in Postgres would be told a second time as they were. */
const onPostgresAlone =
  process.env.TEST_STORE || process.env.EVENTSTORE_URL
    ? ['/test/e2e/(audit|demo|crash)\\.e2e', '/test/chaos/', '/test/bench/']
    : [];

const common = {
  rootDir,
  testEnvironment: 'node',
  transform: { '^.+\\.ts$': '@swc/jest' },
  moduleNameMapper: {
    '^@palimpsest/([^/]+)/testing$': '<rootDir>/libs/$1/testing',
    '^@palimpsest/([^/]+)/contract$': '<rootDir>/libs/$1/contract',
    '^@palimpsest/([^/]+)$': '<rootDir>/libs/$1/src',
  },
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
};

module.exports = {
  rootDir,
  // A busy machine is no reason to fail: the long tests name their own limits.
  testTimeout: 120_000,
  maxWorkers: 2,
  // A worker that has grown beyond it is replaced between two files: modules of hundreds of them stay in its memory.
  workerIdleMemoryLimit: '1GB',
  projects: [
    { ...common, displayName: 'unit', testMatch: ['<rootDir>/{apps,libs,test}/**/*.unit.spec.ts'] },
    {
      ...common,
      displayName: 'int',
      testMatch: ['<rootDir>/{apps,libs,test}/**/*.int.spec.ts'],
      globalSetup: '<rootDir>/test/support/global-setup.cjs',
      globalTeardown: '<rootDir>/test/support/global-teardown.cjs',
    },
    {
      ...common,
      displayName: 'e2e',
      testMatch: ['<rootDir>/test/**/*.e2e.spec.ts'],
      testPathIgnorePatterns: [...common.testPathIgnorePatterns, ...onPostgresAlone],
      globalSetup: '<rootDir>/test/support/global-setup.cjs',
      globalTeardown: '<rootDir>/test/support/global-teardown.cjs',
    },
  ],
};
