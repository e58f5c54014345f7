import { DockerfileParser, type From, type JSONInstruction } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';

/** What is wrong with a Dockerfile: by the linter, and by what this image promises. */
export function faultsOfDockerfile(text: string): string[] {
  const linted = validate(text).map(
    ({ range, message }) => `line ${range.start.line + 1}: ${typeof message === 'string' ? message : message.value}`,
  );
  if (linted.length > 0) return linted;
  const instructions = DockerfileParser.parse(text).getInstructions();
  const named = (keyword: string) => instructions.filter((each) => each.getKeyword() === keyword);
  const lastFrom = instructions.findLastIndex((each) => each.getKeyword() === 'FROM');
  const image = instructions.slice(lastFrom);
  const last = (keyword: string) => image.findLast((each) => each.getKeyword() === keyword);
  const user = last('USER')?.getArgumentsContent() ?? 'root';
  const faults: [boolean, string][] = [
    ...(named('FROM') as From[]).map((from): [boolean, string] => [
      !/^\d+\.\d+\.\d+/.test(from.getImageTag() ?? ''),
      `${from.getImage()} is not pinned by its version`,
    ]),
    [/^(root|0)(:|$)/.test(user), 'it runs as root'],
    [last('HEALTHCHECK') === undefined, 'it has no health check'],
    [named('ADD').length > 0, 'ADD takes in more than files: COPY them'],
    ...['ENTRYPOINT', 'CMD'].map((keyword): [boolean, string] => [
      ((last(keyword) as JSONInstruction | undefined)?.getJSONStrings() ?? []).length === 0,
      `without a ${keyword} as a list a shell stands between the program and its signals`,
    ]),
  ];
  return faults.filter(([isWrong]) => isWrong).map(([, fault]) => fault);
}
