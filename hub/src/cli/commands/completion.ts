// `plugboard completion`: prints the completion script of a shell, which calls `plugboard __complete`.

import { HubError } from "../../errors.ts";
import type { GlobalOptions } from "../io.ts";
import { Output } from "../terminal/output.ts";
import type { Register } from "../command.ts";

export const completionCommand: Register = (program, { io }) => {
  program
    .command("completion")
    .description("print the completion script of a shell")
    .argument("<shell>", "bash, zsh, fish or pwsh")
    .addHelpText("after", HOW)
    .action((shell: string, options: GlobalOptions) => {
      if (!isShell(shell)) {
        throw new HubError("InvalidArgument", `Unknown shell "${shell}"`, {
          field: "shell",
          hint: `plugboard completion ${SHELLS.join("|")}`,
        });
      }
      const out = new Output(io, options);
      if (out.json) out.data({ shell, script: SCRIPTS[shell] });
      else out.print(SCRIPTS[shell]);
    });
};

const HOW = `
  bash   echo 'source <(plugboard completion bash)' >> ~/.bashrc
  zsh    plugboard completion zsh > "\${fpath[1]}/_plugboard"
  fish   plugboard completion fish > ~/.config/fish/completions/plugboard.fish
  pwsh   Add-Content $PROFILE 'plugboard completion pwsh | Out-String | Invoke-Expression'`;

/** Each script passes the words up to the cursor and reads one candidate per line, with its description after a tab. */
const SCRIPTS = {
  bash: `# bash completion for plugboard
_plugboard() {
  local IFS=$'\\n' current="\${COMP_WORDS[COMP_CWORD]}" words
  words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  local candidates
  candidates=$(plugboard __complete -- "\${words[@]}" 2>/dev/null | cut -f1)
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
  [[ \${#COMPREPLY[@]} -eq 0 ]] && COMPREPLY=($(compgen -f -- "$current"))
}
complete -o nosort -F _plugboard plugboard
`,
  zsh: `#compdef plugboard
_plugboard() {
  local -a candidates
  local line
  for line in "\${(@f)$(plugboard __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#candidates} )); then
    _describe 'plugboard' candidates
  else
    _files
  fi
}
if [[ $funcstack[1] = _plugboard ]]; then _plugboard "$@"; else compdef _plugboard plugboard; fi
`,
  fish: `# fish completion for plugboard
function __plugboard_complete
  set -l words (commandline -opc)[2..-1] (commandline -ct)
  plugboard __complete -- $words 2>/dev/null
end
complete -c plugboard -f -a '(__plugboard_complete)'
`,
  // Older versions of PowerShell drop an empty argument, so --next replaces it. npm installs a script (.ps1) beside the
  // program, and completers for scripts and programs are registered separately; a bare -- or a list would not reach the script
  // whole.
  pwsh: `# PowerShell completion for plugboard
& {
  $completer = {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
      Where-Object { $_.Extent.StartOffset -lt $cursorPosition } |
      ForEach-Object { $_.Extent.Text.Trim("'", '"') })
    $next = @()
    if ($wordToComplete -eq '') { $next = @('--next') }
    $arguments = @('__complete') + $next + @('--') + $words
    plugboard @arguments 2>$null | ForEach-Object {
      $value, $about = $_ -split '\\t', 2
      if (-not $about) { $about = $value }
      [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $about)
    }
  }
  Register-ArgumentCompleter -Native -CommandName plugboard, plugboard.cmd -ScriptBlock $completer
  Register-ArgumentCompleter -CommandName plugboard, plugboard.ps1 -ScriptBlock $completer
}
`,
} as const;

export const SHELLS: readonly string[] = Object.keys(SCRIPTS);

function isShell(shell: string): shell is keyof typeof SCRIPTS {
  return Object.hasOwn(SCRIPTS, shell);
}
