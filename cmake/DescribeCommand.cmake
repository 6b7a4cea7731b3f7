# Writes the manual page and the completions of shells, which the command makes
# from its own description of its options.  A script:
#
#   cmake -DCOMMAND=bin/parlance -DFOLDER=share -P DescribeCommand.cmake
#
# The files lie in FOLDER as they do below the installed share/.
function(write_file path)
  get_filename_component(folder ${FOLDER}/${path} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  execute_process(COMMAND ${COMMAND} ${ARGN} OUTPUT_FILE ${FOLDER}/${path}
                  COMMAND_ERROR_IS_FATAL ANY)
endfunction()

write_file(man/man1/parlance.1 manual)
write_file(bash-completion/completions/parlance completions bash)
write_file(zsh/site-functions/_parlance completions zsh)
write_file(fish/vendor_completions.d/parlance.fish completions fish)
