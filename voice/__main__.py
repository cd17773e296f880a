from voice.cli import main

main()
